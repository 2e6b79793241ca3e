/** The error that the work throws or rejects with; fails when it succeeds. */
export async function rejection(work: () => unknown): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  throw new Error('It should have failed, but it did not.')
}
