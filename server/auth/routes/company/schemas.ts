import { answerOf, text } from '../../../http/answers.ts'
import { anyText, bodyOf, Fault, formOf, queryOf, refined, textField } from '../../../http/fields.ts'
import { isPathOfApp } from '../../credentials/company/attempt.ts'
import { optional } from '../administration/fields.ts'
import { linkToken } from '../schemas.ts'

const returnTo = optional(
  refined(
    anyText,
    text('Path of the web app to go on to: it begins with one `/`.', '/orders?view=waiting', {
      maxLength: 2_000,
    }),
    (path) =>
      path.length <= 2_000 && isPathOfApp(path)
        ? path
        : new Fault('format', 'must be a path of the web app, such as /orders.'),
  ),
)
export const ReturnQuery = queryOf({ returnTo })
export const CompanyAddress = answerOf('CompanyAddress', undefined, {
  url: text(
    'Where to send the browser: the provider of the company account.',
    'https://login.example.com/auth?...',
  ),
})
export const UseLinkByCompanyCommand = bodyOf(
  'UseLinkByCompanyCommand',
  'Links a company account by a one-time link.',
  {
    token: linkToken,
  },
)
export const CompanyLogoutForm = formOf(
  'CompanyLogoutForm',
  'Says that somebody has signed out at the provider.',
  {
    logout_token: textField(
      1,
      16_384,
      'A logout token of OpenID Connect Back-Channel Logout 1.0.',
      'eyJ0eXAiOi...',
    ),
  },
)
