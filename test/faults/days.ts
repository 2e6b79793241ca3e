/** Days that buckets of time are of in these tests. */
export const DAYS = ['2024-05-01', '2024-05-02', '2024-05-03'] as const

/** Day that links and keys are of which have no date of their own. */
export const TODAY = new Date().toISOString().slice(0, 10)
