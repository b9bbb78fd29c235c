/** After a rotation both callback secrets sign for a day, unless chosen otherwise; for a month at most. */
export const defaultOverlapSeconds = 24 * 60 * 60;
export const maxOverlapSeconds = 30 * 24 * 60 * 60;
