import { Ajv } from 'ajv';

/**
 * Compiles the server's own schemas, which aren't checked against the meta-schema: an instance
 * compiles that first, at each start. An unknown keyword or type still throws.
 */
export const ajv = new Ajv({ validateSchema: false });
