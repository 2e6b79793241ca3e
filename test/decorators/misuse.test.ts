import { Bin, Embeddable, Key, Record, SkeinError } from 'skein'
import { expect } from 'chai'
import { execFileSync } from 'node:child_process'

describe('a decorator', () => {
  it('says what to set when the compiler uses standard decorators', () => {
    const standard = { kind: 'field', name: 'id' }
    const call = Bin() as (value: unknown, context: unknown) => void
    expect(() => call(undefined, standard))
      .to.throw(SkeinError, /experimentalDecorators/)
      .with.property('code', 'SKEIN_2003')
    for (const decorator of [Record({ set: 'a' }), Embeddable()] as unknown[]) {
      const onClass = decorator as (value: unknown, context: unknown) => void
      expect(() => onClass(class {}, { kind: 'class', name: 'A' })).to.throw(/experimentalDecorators/)
    }
  })

  it('refuses static members and members named by a symbol', () => {
    const name = Symbol('name')
    const call = Bin() as (target: unknown, property: string | symbol) => void
    expect(() => call(class {}, 'count')).to.throw(SkeinError, /@Bin is on a static member \(count\)/)
    expect(() => call({}, name))
      .to.throw(SkeinError, /Symbol\(name\)/)
      .with.property('code', 'SKEIN_2002')
  })

  it('leaves no trace on instances, in JSON or in what is printed', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id = 1
    }
    const entity = new A()
    expect(Object.getOwnPropertyNames(entity)).to.deep.equal(['id'])
    expect(Object.getOwnPropertySymbols(entity)).to.deep.equal([])
    expect(Object.getOwnPropertyNames(A.prototype)).to.deep.equal(['constructor'])
    expect(Object.keys(A)).to.deep.equal([])
    expect(JSON.stringify(entity)).to.equal('{"id":1}')
  })

  it('works where nobody else imports reflect-metadata', () => {
    // A process of its own, because mocha loads reflect-metadata.
    const script = `
      import { Bin, Key, Record, compileModel } from 'skein'
      class A {}
      Key({ type: 'int' })(A.prototype, 'id')
      Bin({ type: 'string' })(A.prototype, 'name')
      Record({ set: 'a' })(A)
      if (!Reflect.getMetadata) throw new Error('reflect-metadata is not loaded')
      console.log(compileModel([A], { namespace: 'test' }).describe())`
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    expect(output).to.include('id    int (key)').and.include('name  string')
  })
})
