// Loaded into a server before its own program (--import).
import { holdToContract } from './holdToContract.mts';

holdToContract();
