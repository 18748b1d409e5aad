/** A line of a text log without the time at its beginning. */
export const withoutTime = (line: string) => line.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z /, '');
