import { together } from '../../support/together.mts';

together(3);
