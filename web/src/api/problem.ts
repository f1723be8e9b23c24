export * from '../../../client/src/problem.ts'
