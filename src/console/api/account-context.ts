import { createContext } from 'preact';

/** The account in the address, for which every call below is made; undefined on pages of operators. */
export const AccountContext = createContext<string | undefined>(undefined);
