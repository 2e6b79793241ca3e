/** A lifecycle hook: a method without parameters. What it returns is awaited. */
export type HookMethod = () => unknown
