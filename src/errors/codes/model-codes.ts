/** 1xxx: the declared model is wrong. Found by compileModel before anything is sent. */
export const MODEL_CODES = {
  SKEIN_1000: 'The model has problems',
} as const
