/** 2xxx: the API was called in a way that cannot work. 20xx general, 21xx keys, 22xx values, 23xx session, 24xx relations, 25xx query, 26xx embedded and cli. */
export const USE_CODES = {
  SKEIN_2001: 'The class is not part of this model',
} as const
