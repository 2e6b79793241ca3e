import { AsyncLocalStorage } from 'node:async_hooks'
import type { HookName } from '../../model/index.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { EntityHome, ManagedEntity } from './managed-entity.js'

/** A hook that was called, and the one that it was called in. */
interface HookCall {
  readonly session: EntityHome
  readonly mapped: MappedClass
  readonly outer: HookCall | undefined
  isRunning: boolean
}

// Made by the first hook: following asynchronous calls has a price that nobody else should pay.
let storage: AsyncLocalStorage<HookCall> | undefined

/** True in what a hook of this session calls, also after it has waited for something; not in what it leaves behind when it has ended. */
export function isInsideHook({ root }: EntityHome): boolean {
  for (let call = storage?.getStore(); call !== undefined; call = call.outer) {
    if (call.isRunning && call.session === root) return true
  }
  return false
}

/** True in what a hook of any session of a database calls, by its classes. */
export function isInsideHookOf(classes: Iterable<MappedClass>): boolean {
  let call = storage?.getStore()
  if (call === undefined) return false
  for (const own = new Set(classes); call !== undefined; call = call.outer) {
    if (call.isRunning && own.has(call.mapped)) return true
  }
  return false
}

/** Calls the methods of each entity in turn, base class first; one that returns a promise is waited for. */
export async function callHooks(hook: HookName, members: Iterable<ManagedEntity>): Promise<void> {
  for (const managed of members) {
    for (const method of managed.model.hooks[hook]) await call(managed, method)
  }
}

/** Calls all of them, also after one has failed, and throws the first error: what they follow has already happened. */
export async function callAllHooks(hook: HookName, members: Iterable<ManagedEntity>): Promise<void> {
  const errors: unknown[] = []
  for (const managed of members) await callHooks(hook, [managed]).catch((error: unknown) => errors.push(error))
  if (errors.length > 0) throw errors[0]
}

async function call({ entity, home, mapped }: ManagedEntity, method: string): Promise<void> {
  storage ??= new AsyncLocalStorage()
  const hook: HookCall = { session: home.root, mapped, outer: storage.getStore(), isRunning: true }
  try {
    await storage.run(hook, () => (entity as Record<string, () => unknown>)[method]())
  } finally {
    hook.isRunning = false
  }
}
