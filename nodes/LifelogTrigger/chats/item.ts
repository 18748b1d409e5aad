import type { IDataObject } from 'n8n-workflow';

import type { Chat } from '../../../lifelog/api.ts';
import { chatJson } from '../../shared/parameters/chatOutput';
import type { Settings } from '../parameters';

export function chatItem(chat: Chat, { chatOutput }: Settings): IDataObject {
	return { ...chatJson(chat, chatOutput), eventKey: chat.id };
}
