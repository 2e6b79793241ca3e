import { SkeinError, bug } from '../errors/index.js'
import { KeyFormat, type KeyParts } from './key-format.js'
import type { KeyPart } from './key-part.js'
import { checkKey, describeKey, keyProblem, MAX_KEY_BYTES, type KeyKind, type KeyValue } from './key-value.js'
import { isPrefixed, TENANT } from './stored-kind.js'
import { parseTemplate } from './template.js'
import { noSlices, sliceKeys, type TimeRange } from './time-slice.js'

/** A tenant as a session knows it. */
export type Tenant = string | number | bigint

/** Rules by which the keys of one class are made. */
interface KeySchemeOptions {
  readonly className: string
  readonly kind: KeyKind
  /** The one property that is the key, or all that the template names. */
  readonly properties: readonly string[]
  readonly template?: string
  readonly types: Readonly<Record<string, KeyPart>>
  /** The placeholder that holds the parent's key. */
  readonly parent?: string
  /** True when the session's tenant enters the key. */
  readonly tenant: boolean
  /** Bytes of the longest key. */
  readonly maxBytes?: number
}

/**
 * Builds, reads and checks the keys of one class. A class has two forms of key: the one people use, and the one its record is stored
 * under. They differ only where a tenant is put in front: order 17 of the tenant acme is stored under 'acme:17'.
 */
export class KeyScheme {
  readonly className: string
  readonly kind: KeyKind
  readonly properties: readonly string[]
  /** Present when the key is made of a template. */
  readonly format: KeyFormat | undefined
  readonly #prefixed: KeyFormat | undefined
  readonly #tenantInTemplate: boolean
  readonly #maxBytes: number

  constructor(options: KeySchemeOptions) {
    this.#maxBytes = options.maxBytes ?? MAX_KEY_BYTES
    this.className = options.className
    this.kind = options.kind
    this.properties = options.properties
    this.format = options.template === undefined ? undefined : createFormat(options.template, options)
    this.#tenantInTemplate = options.tenant && this.properties.includes(TENANT)
    this.#prefixed = isPrefixed(options)
      ? createFormat(`{${TENANT}}:{key}`, {
          className: this.className,
          types: { tenant: 'string', key: this.kind },
          parent: 'key',
          maxBytes: this.#maxBytes,
        })
      : undefined
  }

  /** The key of an entity, made of its properties. */
  keyOf(entity: Readonly<Record<string, unknown>>): KeyValue {
    if (this.format) return this.format.format(entity)
    return this.checked(entity[this.properties[0]])
  }

  /** The key made of the value of its only property. */
  checked(value: unknown): KeyValue {
    return checkKey(value, this.kind, this.className, this.properties[0], this.#maxBytes)
  }

  /** The key that a caller means: the key itself, or the parts it is made of. The session's tenant is filled in, another one refused. */
  toKey(input: unknown, tenant?: Tenant): KeyValue {
    if (this.format && isParts(input)) {
      return this.format.format(this.#fillTenant(input as Record<string, unknown>, tenant))
    }
    if (!this.format && isParts(input)) throw this.#notByParts(input)
    const key = checkKey(input, this.kind, this.className, undefined, this.#maxBytes)
    if (this.format) this.#checkTenant(this.format.parse(key as string), key, tenant)
    return key
  }

  /** The properties that a key is made of. */
  parts(key: KeyValue): KeyParts {
    return this.format ? this.format.parse(key as string) : { [this.properties[0]]: key }
  }

  /** The keys that cover a range of time, one for each slice of the template's date; the other parts are as given. */
  covering(
    parts: Readonly<Record<string, unknown>>,
    range: TimeRange,
    tenant?: Tenant,
    max?: number,
  ): readonly string[] {
    if (!isParts(parts)) throw this.#noParts(parts)
    if (this.format) return sliceKeys(this.format, this.#fillTenant(parts, tenant), range, max)
    throw noSlices(this.className, `a single property, '${this.properties[0]}'`)
  }

  /** The user key of the record: with the tenant in front where the class asks for it. */
  toStored(key: KeyValue, tenant?: Tenant): KeyValue {
    if (this.#prefixed) return this.#prefixed.format({ tenant: String(this.#needTenant(tenant)), key })
    if (this.#tenantInTemplate && tenant !== undefined) this.#checkTenant(this.parts(key), key, tenant)
    return key
  }

  /** The inverse of `toStored`; a record of another tenant is refused. */
  fromStored(stored: KeyValue, tenant?: Tenant): KeyValue {
    if (this.#prefixed) {
      const parts = this.#prefixed.parse(stored as string)
      if (parts[TENANT] !== String(this.#needTenant(tenant))) throw this.#foreign(stored, tenant!)
      return parts['key'] as KeyValue
    }
    if (this.#tenantInTemplate && tenant !== undefined) this.#checkTenant(this.parts(stored), stored, tenant)
    // The client gives an integer as a number wherever it fits one.
    return this.kind === 'bigint' && typeof stored === 'number' ? BigInt(stored) : stored
  }

  #fillTenant(parts: Readonly<Record<string, unknown>>, tenant: Tenant | undefined): Readonly<Record<string, unknown>> {
    if (!this.#tenantInTemplate || tenant === undefined) return parts
    if (parts[TENANT] === undefined || parts[TENANT] === null) return { ...parts, [TENANT]: tenant }
    this.#checkTenant(parts, parts[TENANT], tenant)
    return parts
  }

  #checkTenant(parts: Readonly<Record<string, unknown>>, shown: unknown, tenant: Tenant | undefined): void {
    if (this.#tenantInTemplate && tenant !== undefined && parts[TENANT] !== tenant) throw this.#foreign(shown, tenant)
  }

  #needTenant(tenant: Tenant | undefined): Tenant {
    if (tenant !== undefined && keyProblem(String(tenant), 'string') === undefined) return tenant
    throw new SkeinError('SKEIN_2105', `${this.className} belongs to tenants, and this session has none.`, {
      className: this.className,
      fix: "Open the session with one: db.session({ tenant: '…' }).",
    })
  }

  #notByParts(input: object): SkeinError {
    const [property] = this.properties
    return new SkeinError(
      'SKEIN_2101',
      `${this.className} is loaded by its key alone, and was given ${describeKey(input)}.`,
      {
        className: this.className,
        property,
        fix: `Give the value of ${property}; by other properties it is found with db.query(${this.className}).where({ … }).`,
      },
    )
  }

  #noParts(given: unknown): SkeinError {
    return new SkeinError(
      'SKEIN_2102',
      `The slices of ${this.className} are asked for by the parts of their key, not by ${describeKey(given)}.`,
      { className: this.className, fix: 'Give an object with the parts of the key except the date: { … }.' },
    )
  }

  #foreign(shown: unknown, tenant: Tenant): SkeinError {
    return new SkeinError(
      'SKEIN_2104',
      `${this.className}: ${describeKey(shown)} does not belong to the session's tenant ${describeKey(tenant)}.`,
      { className: this.className, fix: 'Open a session for that tenant, or give a key of this one.' },
    )
  }
}

const isParts = (input: unknown): input is object =>
  typeof input === 'object' && input !== null && !(input instanceof Uint8Array)

// The model was checked before: a template that does not fit its properties cannot come here.
function createFormat(
  text: string,
  options: Pick<KeySchemeOptions, 'className' | 'types' | 'parent' | 'maxBytes'>,
): KeyFormat {
  const template = parseTemplate(text)
  const format = typeof template === 'string' ? template : KeyFormat.create(template, options)
  if (typeof format === 'string')
    throw bug(`the key template '${text}' of ${options.className} was not checked: ${format}`)
  return format
}
