// The order of the test files. Jest goes by what it remembers, else by size, and the longest runs are
// in small files: begun last, they leave all workers but one idle.
const { default: Sequencer } = require('@jest/test-sequencer');

const SLOWEST = [
	'recordings.soak',
	'inbox.soak',
	'triggerPromises.soak',
	'matrix.soak',
	'server.soak',
	'recordingKills.soak',
	'trigger.soak',
	'importMemory.soak',
	'media.soak',
	'beside.soak',
	'properties.soak',
	'archiver.soak',
	'load.soak',
	'server/archiver',
	'engine/lifelogServer',
	'server/healing',
	'server/hardness',
	'server/recordings',
	'reliability/matrix',
	'engine/busyService',
	'server/server',
	'server/operator',
	'engine/trigger',
	'trigger-model/model',
	'server/create',
	'server/web',
	'server/deletes',
	'server/import',
	'server/inbox',
	'engine/audio',
	'engine/lifelog-list',
	'engine/request',
	'engine/names',
	'reliability/properties',
];

const rank = ({ path }) => {
	const at = SLOWEST.findIndex((name) => path.replace('.test', '').endsWith(`/${name}.mts`));
	return at === -1 ? SLOWEST.length : at;
};

module.exports = class extends Sequencer {
	sort(tests) {
		return [...super.sort(tests)].sort((a, b) => rank(a) - rank(b));
	}
};
