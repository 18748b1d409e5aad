import { Ajv2020 } from 'ajv/dist/2020.js';

/** Compiles the schemas of the checker, without checking them against the meta-schema. */
export const ajv = new Ajv2020({ validateSchema: false });
