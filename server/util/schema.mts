import { Ajv } from 'ajv';

/**
 * Compiles the server's own schemas, which aren't checked against the meta-schema: an instance
 * compiles that first, at each start. A mistake still throws, because the mode is strict.
 */
export const ajv = new Ajv({ validateSchema: false });
