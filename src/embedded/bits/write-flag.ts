/** The flags of a policy for bits. */
export const WriteFlag = { CREATE_ONLY: 1, UPDATE_ONLY: 2, NO_FAIL: 4, PARTIAL: 8 } as const
