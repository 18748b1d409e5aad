// Messages of errors that tests in several files expect. Change them here and in the code.

/** Of a connection. lifelog-server says this when it can't reach n8n, too. */
export const REFUSED = 'the connection was refused';
export const INTERRUPTED = 'the connection was interrupted';
export const TOO_SLOW = 'the service took too long';

/** How an error of the rate limit begins. @param wait Such as `60 s`. */
export const asksForWait = (wait: string) => `The rate limit asks for a wait of ${wait}`;
