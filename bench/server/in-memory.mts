// The same lifelogs in the sandbox's store, which holds them all in memory:
// node bench/server/in-memory.mts <count>
import { buildApi } from '../../sandbox/api.mts';
import { World } from '../../sandbox/world.mts';
import { readContract } from '../../server/contract.mts';
import { eachDay } from './folder.mts';

const world = new World();
world.reset({ empty: true }, { rateLimit: { max: 1_000_000 } });
for (const { lifelogs } of eachDay(Number(process.argv[2]))) {
	for (const lifelog of lifelogs) world.saveLifelog(lifelog);
}
// Its search is made ready with the first one.
world.searchLifelogs('bada', {}, 1);
const apiKey = 'sandbox-key';
const api = await buildApi(world, await readContract(), apiKey);
const url = await api.listen({ host: '127.0.0.1', port: 0 });
console.log(JSON.stringify({ url, apiKey }));
process.stdin.once('close', () => process.exit()).resume();
