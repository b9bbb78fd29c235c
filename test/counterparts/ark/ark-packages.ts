/** The SDK of BytePlus does not name the other packages, which its runtime imports. */
export const bytePlusPackages = [
  'byteplus-python-sdk-v2[ark]==3.0.63',
  'httpx==0.28.1',
  'pydantic==2.14.4',
  'sniffio==1.3.1',
];
