import fc from 'fast-check';

// What n8n hands to a node where a person, an expression or a model has put something odd.

const TEXTS = [
	...['', ' ', '0', '-1', '1e9', '50', '1.5', 'NaN', 'null', 'undefined', 'true', 'false', '[]'],
	...['__proto__', 'constructor', 'toString', '.', '..', '../chats/chat-a', '..%2f..', '%2e%2e'],
	...['a/b', 'a\\b', '//elsewhere.invalid', 'https://elsewhere.invalid/', '@elsewhere.invalid'],
	...['?limit=1', '#x', '&cursor=2', 'a b', '\0', '\r\nX-Evil: 1', '\ud800', '😀', 'ü', '%', '%zz'],
	...['2026-02-30', '2026-03-29T02:30:00', '2026-13-01T00:00:00Z', '9999-12-31T23:59:59Z'],
	...['0000-01-01', '-000001-01-01', '+275760-09-13T00:00:00Z', '1700000000', '1700000000000'],
	...['Europe/Berlin', 'UTC', 'local', 'Etc/GMT+14', 'x'.repeat(20_000)],
];
const NUMBERS = [0, -0, -1, 1, 1.5, 50, 1e9, 1e21, -1e9, NaN, Infinity, -Infinity, 1.7e12, 8.64e15];
/** Written into the parameter, as they have no place in JSON. */
const EXPRESSIONS = [
	'={{ undefined }}',
	'={{ NaN }}',
	'={{ DateTime.fromISO("2026-03-02T10:00:00+02:00") }}',
	'={{ DateTime.invalid("broken") }}',
	'={{ DateTime.fromMillis(8.64e15) }}',
	'={{ Duration.fromMillis(5) }}',
	'={{ Interval.after(DateTime.fromMillis(0), 5) }}',
	'={{ new Date("nonsense") }}',
	'={{ new Date(0) }}',
	'={{ [1, [2, [3]]] }}',
	'={{ ({ a: { b: null } }) }}',
	'={{ /x/ }}',
	'={{ $json.missing }}',
	'={{ $json.missing.deeper }}',
	'={{ Object.create(null) }}',
];

/** Own properties named like those every object has. */
const treacherous = fc
	.constantFrom(
		'{"__proto__":{"polluted":1}}',
		'{"constructor":{"prototype":{"polluted":1}}}',
		'{"__proto__":{"length":5}}',
		'[{"__proto__":{"polluted":1}}]',
		'{"toString":1,"valueOf":2}',
		'{"length":-1}',
		'{"id":"lifelog-a","__proto__":null}',
	)
	.map((text) => JSON.parse(text) as unknown);

/** What an item's field can hold. */
export const anyValue = fc.oneof(
	{ weight: 4, arbitrary: fc.constantFrom(...TEXTS) },
	{ weight: 3, arbitrary: fc.constantFrom(...NUMBERS) },
	{ weight: 1, arbitrary: fc.constantFrom(true, false, null, undefined) },
	{ weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
	{ weight: 1, arbitrary: fc.double() },
	{ weight: 1, arbitrary: fc.date({ noInvalidDate: true }).map((date) => date.toISOString()) },
	{ weight: 1, arbitrary: treacherous },
	{ weight: 1, arbitrary: fc.jsonValue() as fc.Arbitrary<unknown> },
);

/** How a value gets into a parameter: typed in, or by an expression. */
export const anyEntry = fc.oneof(
	{ weight: 3, arbitrary: anyValue.map((value) => ({ parameter: '={{ $json.value }}', value })) },
	{
		weight: 1,
		arbitrary: fc.constantFrom(...TEXTS).map((parameter) => ({ parameter, value: null })),
	},
	{
		weight: 1,
		arbitrary: fc
			.constantFrom(...EXPRESSIONS)
			.map((parameter) => ({ parameter, value: null as unknown })),
	},
);

const odd = fc.oneof(anyValue, fc.constant([]), fc.constant({}));

const MISSING = Symbol('missing');

/** A record in which any field may be missing or wrong, but few are. */
function mostly(fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> {
	const loose = Object.entries(fields).map(([name, right]) =>
		fc.tuple(
			fc.constant(name),
			fc.oneof(
				{ weight: 12, arbitrary: right },
				{ weight: 1, arbitrary: odd },
				{ weight: 1, arbitrary: fc.constant(MISSING) },
			),
		),
	);
	return fc
		.tuple(...loose)
		.map((all) => Object.fromEntries(all.filter(([, value]) => value !== MISSING)));
}

const time = fc.constant('2026-03-02T09:00:00.000Z');
const { node } = fc.letrec((tie) => ({
	node: mostly({
		type: fc.constantFrom('heading1', 'heading2', 'blockquote', 'drawing'),
		content: fc.string(),
		startTime: time,
		endTime: time,
		startOffsetMs: fc.nat(),
		endOffsetMs: fc.nat(),
		speakerName: fc.constantFrom('Ann', 'Ben', null),
		speakerIdentifier: fc.constantFrom('user', null),
		children: fc.array(fc.oneof({ depthSize: 'small' }, fc.constant(null), tie('node'))),
	}),
}));

const id = fc.constantFrom('lifelog-a', 'chat-a', '__proto__', '..', '../x', 'a/b', '\ud800');

const lifelog = mostly({
	id,
	title: fc.string(),
	markdown: fc.option(fc.string()),
	contents: fc.array(node as fc.Arbitrary<unknown>),
	startTime: time,
	endTime: time,
	isStarred: fc.boolean(),
	updatedAt: time,
});

const results = mostly({
	result: odd,
	isError: fc.boolean(),
	toolName: fc.string(),
	entriesReturned: fc.array(fc.oneof(fc.constant(null), mostly({ id, title: fc.string() }))),
});

const chat = mostly({
	id,
	summary: fc.option(fc.string()),
	visibility: fc.constant('private'),
	createdAt: time,
	startedAt: time,
	messages: fc.array(
		mostly({
			id,
			text: fc.option(fc.string()),
			toolCalls: fc.constant(null),
			toolResults: fc.array(results),
			user: mostly({ role: fc.constantFrom('user', 'assistant', 'tool') }),
		}),
	),
});

/** Anything a service could answer, near the right thing or far from it. */
export const anyBody = fc.oneof(
	{ weight: 1, arbitrary: odd },
	{
		weight: 6,
		arbitrary: mostly({
			success: fc.boolean(),
			data: mostly({
				lifelog,
				chat,
				lifelogs: fc.array(lifelog, { maxLength: 4 }),
				chats: fc.array(chat, { maxLength: 4 }),
				success: fc.boolean(),
			}),
			meta: mostly({
				lifelogs: mostly({ nextCursor: fc.constantFrom(null, '', '2', 3, {}, [5]) }),
				chats: mostly({ nextCursor: fc.constantFrom(null, '', '2', 3, {}, [5]) }),
			}),
		}),
	},
);
