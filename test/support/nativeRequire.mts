import { join } from 'node:path';

const { createRequire } = process.getBuiltinModule('node:module');

/**
 * Node.js's own `require`, for paths from the root of the repository. What it loads is loaded once for
 * all test files of a process, and apart from what one of them replaces.
 */
export const nativeRequire = createRequire(join(process.cwd(), 'package.json'));
