/** 5xxx: a bug in Skein itself. */
export const BUG_CODES = {
  SKEIN_5001: 'Skein reached a state that should be impossible',
} as const
