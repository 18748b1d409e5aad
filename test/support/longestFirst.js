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
	'transcribeAgain.soak',
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
	'beside.soak',
	'archiver.soak',
	'load.soak',
	'events/events.test',
	'recordings/recordings.test',
	'backup/archiver.test',
	'server/lifelogServer.test',
	'operator/operator.test',
	'promises/model.test',
	'trigger/trigger.test',
	'archive/hardness.test',
	'people/people.test',
	'nodes/busyService.test',
	'api/server.test',
	'words/replacements.test',
	'archive/create.test',
	'faults/properties.test',
	'operator/terminal.test',
	'index/healing.test',
	'events/deliveries.test',
	'recordings/inbox.test',
	'operator/ways.test',
	'summary/formats.test',
	'page/http.test',
	'nodes/names.test',
	'words/lines.test',
	'index/meaning.test',
	'archive/laterFields.test',
	'lifelog/list.test',
	'export/export.test',
	'nodes/limitless.test',
	'sandbox/control.test',
	'events/recordingEvents.test',
	'events/webhooks.test',
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
