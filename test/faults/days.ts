/** Days that buckets of time are of in these tests. */
export const DAYS = ['2024-05-01', '2024-05-02', '2024-05-03'] as const
