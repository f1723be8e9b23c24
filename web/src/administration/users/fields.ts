/** The fields of a user, under the names of the API. */
export const userFields = {
  email: { label: 'Email', type: 'email', missing: 'Enter the user’s email.' },
  userName: {
    label: 'User name',
    missing: 'Enter a user name.',
    hint: 'A to Z first, then A to Z, digits and . _ -. It is shown on orders and in the log.',
  },
  name: {
    label: 'Full name',
    hint: 'Printed next to the user name on certificates, in mails and in histories. Optional.',
  },
  timeZone: {
    label: 'Time zone',
    options: Intl.supportedValuesOf('timeZone'),
    hint: 'Used for this person’s times in the log. Leave empty to use the time zone of the service.',
  },
} as const
