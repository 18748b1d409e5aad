// The order of the test files. Jest goes by what it remembers, else by size, and the longest runs are
// in small files: begun last, they leave all workers but one idle.
const { default: Sequencer } = require('@jest/test-sequencer');

const SLOWEST = [
	'media.soak',
	'recordings.soak',
	'failedRecordings.soak',
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
	'server/recordings.test',
	'server/hearing.test',
	'engine/lifelogServer.test',
	'server/archiver.test',
	'server/operator.test',
	'reliability/matrix.test',
	'server/inbox.test',
	'server/server.test',
	'engine/trigger.test',
	'server/hardness.test',
	'trigger-model/model.test',
	'server/create.test',
	'server/healing.test',
	'engine/audio.test',
	'sandbox/control.test',
	'engine/busyService.test',
	'server/archiverLists.test',
	'server/web.test',
	'engine/lifelog-list.test',
	'server/transcribe.test',
	'server/import.test',
	'server/archiveUsers.test',
	'server/limitless.test',
	'server/recordedTimes.test',
	'engine/limitless.test',
	'check/folder.test',
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
