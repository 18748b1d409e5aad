// The order of the test files. Jest goes by what it remembers, else by size, and the longest runs are
// in small files: begun last, they leave all workers but one idle.
const { default: Sequencer } = require('@jest/test-sequencer');

const LONGEST = [
	'server/recordings',
	'server/hardness',
	'server/healing',
	'reliability/matrix',
	'engine/lifelogServer',
	'engine/trigger',
	'server/operator',
	'engine/names',
	'server/archiver',
	'engine/busyService',
	'server/deletes',
	'server/server',
	'server/create',
	'server/audio',
	'server/beside',
	'engine/audio',
	'engine/lifelog-list',
	'trigger-model/model',
	'engine/request',
	'engine/trigger-promises',
	'reliability/properties',
];

const rank = ({ path }) => {
	const at = LONGEST.findIndex((name) => path.endsWith(`${name}.test.mts`));
	return at === -1 ? LONGEST.length : at;
};

module.exports = class extends Sequencer {
	sort(tests) {
		return [...super.sort(tests)].sort((a, b) => rank(a) - rank(b));
	}
};
