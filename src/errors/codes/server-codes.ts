/** 4xxx: the server or the way to it. 40xx are the classes people catch, 41xx connecting, 42xx commands, 43xx transactions. */
export const SERVER_CODES = {
  SKEIN_4001: 'Some records were written and others were not',
  SKEIN_4002: 'The transaction failed on every attempt',
  SKEIN_4003: 'It is not known whether the transaction was committed',
} as const
