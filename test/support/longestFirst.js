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
	'archiveKills.soak',
	'beside.soak',
	'properties.soak',
	'archiver.soak',
	'load.soak',
	'server/archiver.test',
	'engine/lifelogServer.test',
	'server/healing.test',
	'server/hardness.test',
	'server/recordings.test',
	'reliability/matrix.test',
	'engine/busyService.test',
	'server/server.test',
	'server/operator.test',
	'engine/trigger.test',
	'trigger-model/model.test',
	'server/create.test',
	'server/web.test',
	'server/deletes.test',
	'server/import.test',
	'server/inbox.test',
	'engine/audio.test',
	'engine/lifelog-list.test',
	'engine/request.test',
	'engine/names.test',
	'reliability/properties.test',
];

const rank = ({ path }) => {
	const at = SLOWEST.findIndex((name) => path.endsWith(`/${name}.mts`));
	return at === -1 ? SLOWEST.length : at;
};

module.exports = class extends Sequencer {
	sort(tests) {
		return [...super.sort(tests)].sort((a, b) => rank(a) - rank(b));
	}
};
