import { familyAndFriends } from './scenes/familyAndFriends.mts';
import { workAndErrands } from './scenes/workAndErrands.mts';

export type { Scene } from './scenes/scene.mts';

export const scenes = [...workAndErrands, ...familyAndFriends];

/** Short replies between the lines. */
export const fillers = [
	'Right.',
	'That makes sense.',
	'Say that again?',
	'Okay, good.',
	'I see what you mean.',
	'Really?',
	'Hm, let me think.',
	'Exactly.',
	'Fair enough.',
	'Oh no.',
	'Sounds good to me.',
	'I am not so sure about that.',
	'Wait, I write that down.',
	'Ha, yes.',
];

/** Headings inside a topic. */
export const subheadings = ['Next steps', 'Details', 'A side note', 'Afterwards', 'Open questions'];

/** Values of the placeholders other than people. */
export const words: Record<string, string[]> = {
	amount: ['two thousand', 'four and a half thousand', 'eight hundred', 'twelve thousand', '650'],
	body: ['knee', 'shoulder', 'lower back', 'left ankle', 'neck', 'elbow'],
	car: ['old Volvo', 'car', 'camper van', 'trailer', 'cargo bike'],
	city: ['Lisbon', 'Hamburg', 'Ghent', 'Trieste', 'Porto', 'Gdansk', 'Vienna', 'Bergen', 'Lyon'],
	company: [
		'Nordlicht Logistics',
		'Brandt & Sons',
		'Kiwi Energy',
		'Falke Books',
		'Meridian Tours',
		'Alba Dental',
	],
	dish: [
		'lasagne',
		'lentil dal',
		'potato gratin',
		'pumpkin soup',
		'ramen',
		'shakshuka',
		'mushroom risotto',
		'pancakes',
		'chili',
	],
	feature: [
		'invoice export',
		'calendar sync',
		'search page',
		'login flow',
		'notification centre',
		'offline mode',
		'price calculator',
		'report builder',
	],
	film: [
		'documentary about whales',
		'new detective series',
		'film with the lighthouse',
		'space opera',
		'comedy about the choir',
	],
	game: ['chess game', 'card game', 'marble run', 'treasure hunt', 'board game with the trains'],
	item: [
		'headlamp',
		'winter jacket',
		'bicycle pump',
		'coffee grinder',
		'rain trousers',
		'sewing machine',
	],
	place: [
		'harbour café',
		'Vietnamese place',
		'canteen',
		'old mill',
		'wildlife park',
		'science museum',
	],
	price: ['34', '12.80', '79', '145', '8.50', '260'],
	project: ['Atlas', 'Heron', 'Tidewater', 'Lantern', 'Compass'],
	time: ['three', 'half past four', 'nine thirty', 'noon', 'a quarter past two', 'six'],
	trip: ['zoo trip', 'class trip to the museum', 'school camp', 'forest day'],
	weekday: ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'],
};
