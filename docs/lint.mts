// Whether documents, code and examples say the same: npm run lint:docs
import { problemsOfExamples } from './lint/examples.mts';
import { problemsOfGlossary } from './lint/glossary.mts';
import { problemsOfLinks } from './lint/links.mts';
import { problemsOfMessages } from './lint/messages.mts';
import { problemsOfNames } from './lint/names.mts';
import { problemsOfOperations } from './lint/operations.mts';
import { publicationProblems, readDocuments } from './lint/publication.mts';

const problems = [
	...problemsOfLinks(),
	...problemsOfNames(),
	...problemsOfMessages(),
	...problemsOfOperations(),
	...problemsOfGlossary(),
	...problemsOfExamples(),
	...publicationProblems(readDocuments(), false),
];
if (problems.length > 0) {
	console.error(problems.join('\n'));
	process.exitCode = 1;
}
