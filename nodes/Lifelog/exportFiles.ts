import { createHash } from 'node:crypto';

import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { Lifelog } from '../../lifelog/api.ts';
import { titleOf } from '../../lifelog/contents.ts';
import { type FileFormat, writeLifelog } from '../../lifelog/files/formats.ts';
import { appExportPath, entryPath } from '../../lifelog/names.ts';
import type { Api } from '../shared/auth/connection';
import { unusableAnswerError } from '../shared/errors/status';
import { nameInRun } from '../shared/parameters/fileNames';

/** @param settings Its `name` is without extension; undefined for the name in an archive. */
export async function fileItem(
	context: IExecuteFunctions,
	api: Api,
	lifelog: Lifelog,
	format: FileFormat,
	{ zone, property, name }: { zone: string; property: string; name?: string },
): Promise<INodeExecutionData> {
	const file = writeLifelog(lifelog, format, zone);
	if (!file) {
		const resource = { noun: 'lifelog', id: lifelog.id };
		throw unusableAnswerError(api, resource, {}, 'the lifelog does not say when it begins');
	}
	const { extension, mimeType, startMs } = file;
	const isAppExport = format === 'appExport';
	const placeOf = (nth: number) =>
		isAppExport
			? appExportPath(startMs, titleOf(lifelog), nth)
			: entryPath('lifelogs', lifelog.id, startMs, sha256, nth);
	const place = nameInRun(api, placeOf, lifelog.id);
	const path = `${place}${extension}`;
	const bytes = Buffer.from(file.content);
	const nameInPlace = place.slice(place.lastIndexOf('/') + 1);
	// Tools know a file of the app by its name.
	const fileName = `${isAppExport ? nameInPlace : (name ?? nameInPlace)}${extension}`;
	const json: IDataObject = {
		fileName,
		path,
		mimeType,
		fileSize: bytes.length,
		sha256: sha256(bytes),
		format,
		lifelogId: lifelog.id,
		title: lifelog.title,
		startTime: lifelog.startTime,
		endTime: lifelog.endTime,
		updatedAt: lifelog.updatedAt,
		isStarred: lifelog.isStarred,
	};
	const binary = await context.helpers.prepareBinaryData(bytes, fileName, mimeType);
	return { json, binary: { [property]: binary } };
}

function sha256(content: string | Buffer): string {
	return createHash('sha256').update(content).digest('hex');
}
