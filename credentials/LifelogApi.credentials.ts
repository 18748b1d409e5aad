import type {
	ICredentialDataDecryptedObject,
	ICredentialType,
	Icon,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';

import { LIMITLESS_URL } from '../lifelog/limitless.ts';
import { authenticated } from '../nodes/shared/auth/authenticate';

export class LifelogApi implements ICredentialType {
	name = 'lifelogApi';

	displayName = 'Lifelog API';

	icon: Icon = { light: 'file:../icons/lifelog.svg', dark: 'file:../icons/lifelog.dark.svg' };

	documentationUrl =
		'https://github.com/n8n-nodes-lifelog/n8n-nodes-lifelog/blob/main/docs/credential.md';

	properties: INodeProperties[] = [
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description: 'Key of the service, sent only to the Base URL',
			hint: 'For Limitless, pair your device, then select Developer in the desktop or web app. For lifelog-server, make a key on its page, under Connect.',
		},
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			default: LIMITLESS_URL,
			required: true,
			description:
				'Address of the service. It must begin with https://. http:// is accepted only for this machine or, with the option below, in a private network.',
			hint: 'Leave it for Limitless. For your own lifelog-server, enter its address, such as http://127.0.0.1:8787.',
		},
		{
			displayName: 'Allow HTTP in a Private Network',
			name: 'allowPrivateHttp',
			type: 'boolean',
			default: false,
			description:
				'Whether the Base URL may be http for a private address, or for a host name without a dot or ending in .local, .localhost, .internal, .lan or .home.arpa. Anyone in that network can then read the API key and your lifelogs.',
		},
	];

	/** Signs a request, or refuses it before the key is sent: see {@link authenticated}. */
	authenticate = async (
		credentials: ICredentialDataDecryptedObject,
		requestOptions: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> => authenticated(credentials, requestOptions);
}
