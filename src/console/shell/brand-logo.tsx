import { brand } from '../api/page-brand.ts';

/** The logo of the service, else a frame of film that plays. */
export function BrandLogo() {
  if (brand.logo !== undefined) return <img class="brand-mark" src={brand.logo} alt="" />;
  return (
    <svg class="brand-mark" viewBox="0 0 26 26" aria-hidden="true">
      <rect width="26" height="26" rx="7" fill="var(--accent-fill)" />
      <path
        d="M10 7.6v10.8a.6.6 0 0 0 .92.5l8.3-5.4a.6.6 0 0 0 0-1L10.92 7.1a.6.6 0 0 0-.92.5Z"
        fill="var(--on-accent)"
      />
      <rect x="5" y="7" width="2.2" height="12" rx="1.1" fill="var(--on-accent)" opacity=".65" />
    </svg>
  );
}
