import { defineConfig, globalIgnores } from 'eslint/config'
import tseslint from 'typescript-eslint'
import importX from 'eslint-plugin-import-x'
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

// Data flows one way (docs/internals/architecture.md): each folder may import only the folders named here.
const MAY_IMPORT = {
  errors: [],
  regex: [],
  embedded: ['errors', 'regex'],
  keys: ['errors'],
  model: ['errors', 'keys'],
  decorators: ['errors', 'keys', 'model'],
  plan: ['errors', 'keys', 'model'],
  codec: ['errors', 'keys', 'model', 'plan'],
  driver: ['errors', 'keys', 'plan'],
  relations: ['errors', 'keys', 'model', 'codec', 'plan'],
  query: ['errors', 'regex', 'keys', 'model', 'codec', 'plan', 'driver'],
  records: ['errors', 'keys', 'model', 'codec', 'plan', 'query'],
  session: ['errors', 'keys', 'model', 'codec', 'plan', 'driver', 'relations', 'records', 'query', 'embedded'],
}
// The same inside src/relations; the files beside these folders stand above them all.
const RELATIONS_MAY_IMPORT = {
  contract: [],
  state: ['contract'],
  write: ['contract'],
  read: ['contract', 'state'],
  cascade: ['contract', 'state', 'write'],
  verify: ['contract', 'write'],
  strategies: ['contract', 'state', 'write', 'read', 'cascade', 'verify'],
}
const zonesOf = (root, mayImport, above) =>
  Object.keys(mayImport).map((folder, _, folders) => ({
    target: `${root}/${folder}`,
    from: [...folders.filter((other) => other !== folder && !mayImport[folder].includes(other)), ...above].map(
      (other) => `${root}/${other}`,
    ),
    message: `${root}/${folder} may import only: ${mayImport[folder].join(', ') || 'nothing'}.`,
  }))
const zones = [
  ...zonesOf('./src', MAY_IMPORT, ['cli', 'index.ts']),
  ...zonesOf('./src/relations', RELATIONS_MAY_IMPORT, ['collection.ts', 'ref.ts', 'attach.ts', 'strategy-registry.ts']),
]

// Imports name the compiled file; without its source the rules above would hold nothing apart.
const sourceOf = {
  interfaceVersion: 3,
  name: 'source-of-compiled',
  resolve(specifier, file) {
    const path = specifier.startsWith('.') ? resolve(dirname(file), specifier.replace(/\.js$/, '.ts')) : ''
    return path !== '' && existsSync(path) ? { found: true, path } : { found: false }
  },
}

export default defineConfig(
  globalIgnores(['dist', '.build', 'coverage', 'test/golden/*.mjs', 'test/setups/*/**', 'test/types/refused/**']),
  tseslint.configs.recommendedTypeChecked,
  {
    plugins: { 'import-x': importX },
    settings: { 'import-x/resolver-next': [sourceOf] },
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['eslint.config.js', 'scripts/*.js'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      'import-x/no-restricted-paths': ['error', { zones }],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/driver/**'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { paths: [{ name: 'aerospike', message: 'Only src/driver talks to the client.', allowTypeImports: false }] },
      ],
    },
  },
  {
    files: ['test/**/*.ts', 'examples/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/require-await': 'off',
    },
  },
  { files: ['**/*.js', '**/*.mjs'], extends: [tseslint.configs.disableTypeChecked] },
)
