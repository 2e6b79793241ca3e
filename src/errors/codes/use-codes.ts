/** 2xxx: the API was called in a way that cannot work. 20xx general, 21xx keys, 22xx values, 23xx session, 24xx relations, 25xx query, 26xx embedded and cli. */
export const USE_CODES = {
  SKEIN_2001: 'The class is not part of this model',
  SKEIN_2002: 'A decorator stands where nothing can be stored',
  SKEIN_2003: 'The decorators are compiled as standard decorators',

  SKEIN_2101: 'The value cannot be a key',
  SKEIN_2102: 'A part of the key is missing or of the wrong type',
  SKEIN_2103: 'The key does not have the form of its template',
  SKEIN_2104: 'The key belongs to another tenant',
  SKEIN_2105: 'The class belongs to tenants and the session has none',
  SKEIN_2106: 'The range of time cannot be turned into keys',

  SKEIN_2201: 'The value cannot be stored as its property is declared',
  SKEIN_2202: 'A property was set that was not loaded',
  SKEIN_2203: 'The key of a stored entity was changed',
  SKEIN_2290: 'A value cannot be sent to the server',

  SKEIN_2401: 'The reference is not loaded',
  SKEIN_2402: 'The collection is not loaded',
  SKEIN_2403: 'The relation is not attached to a session',
  SKEIN_2590: 'The index cannot be created like this',
} as const
