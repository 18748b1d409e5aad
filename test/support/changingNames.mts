// Loaded into a server before its own program (--import): names that end in `.changing.test` lead to the
// address in the file TEST_ADDRESS.
import { readFileSync } from 'node:fs';
import dns from 'node:dns';
import { isIP } from 'node:net';
import { syncBuiltinESMExports } from 'node:module';

const { lookup } = dns;
const find = dns.promises.lookup;
const isOurs = (name: string) => name.endsWith('.changing.test');
const found = () => {
	const address = readFileSync(process.env.TEST_ADDRESS!, 'utf8');
	return { address, family: isIP(address) };
};

type Callback = (error: Error | null, ...found: unknown[]) => void;
dns.lookup = ((name: string, options: { all?: boolean }, callback: Callback) => {
	if (!isOurs(name)) return lookup(name, options as object, callback as never);
	const { address, family } = found();
	if (options.all) callback(null, [{ address, family }]);
	else callback(null, address, family);
}) as typeof dns.lookup;
dns.promises.lookup = (async (name: string, options: object) =>
	isOurs(name) ? [found()] : await find(name, options)) as typeof dns.promises.lookup;
syncBuiltinESMExports();
