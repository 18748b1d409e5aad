import { en, Faker } from '@faker-js/faker';

/** Returns a random generator with the same sequence for the same seed. */
export function createFaker(seed: number): Faker {
	return new Faker({ locale: en, seed });
}

/** Returns an opaque ID like those of the service. */
export function createId(faker: Faker): string {
	return faker.string.alphanumeric(20);
}
