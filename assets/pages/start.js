// Keys are kept in the tab's session storage: they survive a reload and are gone with the tab. The licence is shown by its
// SPDX identifier, for which Swagger UI would make a link that leads nowhere.
const storageKey = 'videogen-keys';
const keys = JSON.parse(sessionStorage.getItem(storageKey) ?? '{}');
const keep = () => sessionStorage.setItem(storageKey, JSON.stringify(keys));

const dark = matchMedia('(prefers-color-scheme: dark)');
const applyTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', applyTheme);
applyTheme();

const focusFirstKey = () => document.querySelector('.modal-ux .auth-container input')?.focus();

const storedKeys = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        authorize: (authorize) => (given) => {
          for (const [name, { value }] of Object.entries(given)) keys[name] = value;
          keep();
          return authorize(given);
        },
        logout: (logout) => (names) => {
          for (const name of names) delete keys[name];
          keep();
          return logout(names);
        },
        showDefinitions: (showDefinitions) => (definitions) => {
          setTimeout(focusFirstKey);
          return showDefinitions(definitions);
        },
      },
    },
  },
});

const noLicenceLink = () => ({ wrapComponents: { OAS31License: () => () => null } });

const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  tryItOutEnabled: true,
  persistAuthorization: false,
  displayRequestDuration: true,
  validatorUrl: null,
  plugins: [storedKeys, noLicenceLink],
  onComplete: () => {
    for (const [name, key] of Object.entries(keys)) ui.preauthorizeApiKey(name, key);
  },
});
