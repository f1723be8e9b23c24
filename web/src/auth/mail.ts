/** Whether the service sends mail: it then puts this into the page. */
export const sendsMail = document.querySelector('meta[name="mail"]') !== null
