/** 3xxx: the stored data does not allow it. 30xx are the classes people catch, 31xx stored values, 32xx sessions, 33xx relations. */
export const DATA_CODES = {
  SKEIN_3001: 'The entity is not stored',
  SKEIN_3002: 'An entity with this key is already stored',
  SKEIN_3003: 'The entity is not stored, or no longer stored',
  SKEIN_3004: 'The entity was changed by someone else meanwhile',
  SKEIN_3005: 'The entity does not satisfy its validation rules',
  SKEIN_3006: 'The record would be larger than the server allows',
  SKEIN_3007: 'The entity is still referenced and its relation forbids the delete',
  SKEIN_3101: 'A stored value does not have the declared type',
  SKEIN_3103: 'The list has no such index',
  SKEIN_3301: 'A companion record takes no changes',
  SKEIN_3302: 'The members of a collection could not be read while they moved',
  SKEIN_3102: 'The record holds another class than the one asked for',
} as const
