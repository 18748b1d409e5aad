import { en, Faker } from '@faker-js/faker';

/** Returns a source of names and chance that always tells the same story for the same seed. */
export function createFaker(seed: number): Faker {
	return new Faker({ locale: en, seed });
}

/** Returns an opaque id as the service gives them out. */
export function createId(faker: Faker): string {
	return faker.string.alphanumeric(20);
}
