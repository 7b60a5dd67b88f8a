// Package datasets finds the images of a multi-domain data set, splits them, and
// hands them out as 8-bit RGB.
package datasets
