import { describeFormats } from '../server/mediaFormats.mts';

jest.setTimeout(3_600_000);

// The formats that `npm test` leaves out.
describeFormats(['mp3', 'wav', 'webm']);
