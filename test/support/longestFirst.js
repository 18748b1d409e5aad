// The order of the test files. Jest goes by what it remembers, else by size, and the longest runs are
// in small files: begun last, they leave all workers but one idle.
const { default: Sequencer } = require('@jest/test-sequencer');

const SLOWEST = [
	'views.web',
	'page.web',
	'player.web',
	'trouble.web',
	'media.soak',
	'recordings.soak',
	'failedRecordings.soak',
	'inbox.soak',
	'trigger/uploads.test',
	'faults/matrix.test',
	'server.soak',
	'recordingKills.soak',
	'trigger.soak',
	'importMemory.soak',
	'archiveKills.soak',
	'eventKills.soak',
	'exportKills.soak',
	'eventFlood.test',
	'beside.soak',
	'properties.test',
	'archiver.soak',
	'load.soak',
	'recordings/recordings.test',
	'recordings/transcribeAgain.test',
	'hearing.test',
	'lifelogServer.test',
	'archiver.test',
	'operator.test',
	'inbox.test',
	'api/server.test',
	'trigger/trigger.test',
	'hardness.test',
	'model.test',
	'create.test',
	'people/people.test',
	'words/replacements.test',
	'words/lines.test',
	'healing.test',
	'nodes/audio/download.test',
	'control.test',
	'busyService.test',
	'archiverLists.test',
	'page/http.test',
	'lifelog/list.test',
	'transcribe.test',
	'import.test',
	'archiveUsers.test',
	'api/limitless.test',
	'recordedTimes.test',
	'nodes/limitless.test',
	'folder.test',
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
