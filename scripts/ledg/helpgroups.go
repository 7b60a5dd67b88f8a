package main

// The flags that the help of a command shows, by group; --help-all shows the others.
const (
	trainGroups = `Data: dataset root target classes
Method: preset method budget net epochs
Run: out resume label seed help help-all`

	extendGroups = `What changes: budget classes root labels epochs target
Run: out label wait backend quiet
Help: help help-all`

	labelGroups = `Images: dataset root classes labels group predictions
Annotators: by blind disagreement again
Page: listen port detach stop
Help: help help-all`

	embedGroups = `Images: dataset root classes labels
Network: net weights preprocess size views names
Output: out dtype shard backend quiet
Help: help help-all`

	queryGroups = `Query: pool number strategy gamma1 gamma2 domains seed
Output: out json
Help: help help-all`

	siteGroups = `Site: images out group new-class
Labels: ask adapt audit until wait
Run: unadapted seed backend json quiet
Help: help help-all`

	tableGroups = `Records: dir plan dataset preset budget target method
Table: baseline baseline-dir rule measure chosen format
Help: help help-all`

	figureGroups = `Records: dir run dataset target method seed
Figure: out title rename baseline theme band rule source-val count
Help: help help-all`
)
