import { IsEmail, Min, ValidateNested } from 'class-validator'
import { expect } from 'chai'
import { Bin, compileModel, Embeddable, Embedded, Key, Record } from 'skein'
import { validateEntity } from '#src/codec/index.js'

@Embeddable()
class Address {
  @Bin() @Min(1) number?: number
}
@Record({ set: 'user' })
class User {
  @Key() id!: number
  @Bin() @IsEmail() email?: string
  @Bin() @Min(18) age?: number
  @Embedded(() => Address) @ValidateNested() home?: Address
}
@Record({ set: 'free' })
class Free {
  @Key() id!: number
}

const classes = compileModel([User, Free], { namespace: 'test' })
const model = classes.entity(User)
const user = (values: Partial<User>): User => Object.assign(new User(), { id: 7, ...values })

describe('validateEntity', () => {
  it('finds nothing wrong with an entity that satisfies its rules', () => {
    const home = Object.assign(new Address(), { number: 1 })
    expect(validateEntity(user({ email: 'ada@example.org', age: 36, home }), model, classes)).to.deep.equal([])
  })

  it('lists every failure with class, key, path, rule and message', () => {
    const home = Object.assign(new Address(), { number: 0 })
    const failures = validateEntity(user({ email: 'ada', age: 3, home }), model, classes)
    expect(
      failures.map(({ className, key, property, constraint }) => [className, key, property, constraint]),
    ).to.deep.equal([
      ['User', 7, 'email', 'isEmail'],
      ['User', 7, 'age', 'min'],
      ['User', 7, 'home.number', 'min'],
    ])
    expect(failures[1].message).to.equal('age must not be less than 18')
  })

  it('looks only at the properties that were loaded', () => {
    const failures = validateEntity(user({}), model, classes, new Set(['id', 'age']))
    expect(failures.map(({ property }) => property)).to.deep.equal(['age'])
  })

  it('accepts classes without rules', () => {
    expect(validateEntity(Object.assign(new Free(), { id: 1 }), classes.entity(Free), classes)).to.deep.equal([])
  })
})
