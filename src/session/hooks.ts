import type { HookName } from '../model/index.js'
import type { Managed } from './managed.js'

let running = 0

/** True while a hook runs synchronously: what it calls now, it calls itself. */
export const isInsideHook = (): boolean => running > 0

export const hasHooks = (hook: HookName, members: readonly Managed[]): boolean =>
  members.some(({ model }) => model.hooks[hook].length > 0)

/** Calls the methods of each entity in turn, base class first; one that returns a promise is waited for. */
export async function callHooks(hook: HookName, members: Iterable<Managed>): Promise<void> {
  for (const { entity, model } of members) {
    for (const method of model.hooks[hook]) await call(entity as Record<string, () => unknown>, method)
  }
}

/** Calls all of them, also after one has failed, and throws the first error: what they follow has already happened. */
export async function callAllHooks(hook: HookName, members: Iterable<Managed>): Promise<void> {
  const errors: unknown[] = []
  for (const managed of members) await callHooks(hook, [managed]).catch((error: unknown) => errors.push(error))
  if (errors.length > 0) throw errors[0]
}

function call(entity: Record<string, () => unknown>, method: string): unknown {
  running++
  try {
    return entity[method]()
  } finally {
    running--
  }
}
