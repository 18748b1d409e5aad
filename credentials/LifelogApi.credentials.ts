import type {
	IAuthenticateRuleResponseCode,
	IAuthenticateRuleResponseSuccessBody,
	ICredentialDataDecryptedObject,
	ICredentialTestRequest,
	ICredentialType,
	Icon,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';

import { authenticated } from '../nodes/shared/authenticate';

const answered = (value: number, message: string): IAuthenticateRuleResponseCode => ({
	type: 'responseCode',
	properties: { value, message },
});

/** A web page, or something else with status 200. */
const NO_SERVICE: IAuthenticateRuleResponseSuccessBody = {
	type: 'responseSuccessBody',
	properties: {
		key: 'data.chats',
		value: undefined,
		message: 'What answers at the Base URL is not the service. Check the address.',
	},
};

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
			description: 'Sent to the Base URL and nowhere else',
			hint: 'Create one in the developer settings of the desktop or web app, once the device is paired',
		},
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			default: 'https://api.limitless.ai',
			required: true,
			description:
				'Where the service is reached; leave it unless yours runs elsewhere. Must be https; http is accepted only for this machine (e.g. the sandbox of this package).',
		},
		{
			displayName: 'Allow HTTP in a Private Network',
			name: 'allowPrivateHttp',
			type: 'boolean',
			default: false,
			description:
				'Whether the Base URL may be http for a private address, or for a host name without a dot or ending in .local, .internal, .lan or .home.arpa. Everybody in that network can then read the API key and what was recorded.',
		},
	];

	/** Signs a request, or refuses it before the key is sent: see {@link authenticated}. */
	authenticate = async (
		credentials: ICredentialDataDecryptedObject,
		requestOptions: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> => authenticated(credentials, requestOptions);

	test: ICredentialTestRequest = {
		request: {
			baseURL: '={{$credentials.baseUrl}}',
			url: '/v1/chats',
			qs: { limit: 1 },
			disableFollowRedirect: true,
			timeout: 30_000,
		},
		rules: [
			answered(401, 'The API key was refused. Check that it was copied whole and is still valid.'),
			answered(403, 'The API key is not allowed to read chats.'),
			answered(404, 'There is no such service at the Base URL. Check the address.'),
			...[301, 302, 303, 307, 308].map((status) =>
				answered(
					status,
					'The Base URL redirects to another address. Enter that of the service itself.',
				),
			),
			answered(429, 'The rate limit of this API key is reached. Try again in a minute.'),
			...[500, 502, 503, 504].map((status) =>
				answered(status, 'The service failed, so the API key was not tested. Try again later.'),
			),
			NO_SERVICE,
			// n8n goes by rules of both kinds; its type has lists of one kind only.
		] as IAuthenticateRuleResponseCode[],
	};
}
