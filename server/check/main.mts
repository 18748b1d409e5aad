// npm run check-archive -- <folder> [options]
import { checkCommand } from '../cli/check.mts';

process.exitCode = await checkCommand(process.argv.slice(2), 'npm run check-archive --');
