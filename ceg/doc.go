// Package ceg trains image classifiers for domain generalization with few labels. [Run]
// executes one run of CEG, Collaborative Exploration and Generalization (Yuan et al., ACM MM
// 2022, Algorithm 1), or of another method of this repository. A [Config] describes the run
// (package [github.com/ledg-go/ledg/ceg/config]); labels, metrics and checkpoints are written
// to one folder, Options.Dir.
//
// The map of the paper lists each quantity in the order of Algorithm 1 with the symbol that
// computes it. F is the backbone; Cls and H are the class and the domain head, for K source
// domains and C classes; x is an image, y its class, e one of E epochs. A symbol's comment
// cites its row as "the map of package ceg: (n)". The second column has the paper's equation
// number, algorithm (A) or table (T); equation environments are numbered in order. "Here"
// marks where the code differs from the paper.
//
//	 1  A1        label, train, then query and train in turns                     Run
//	 2  A1        B, rounds: half before training, the rest in rounds             config.Config.DivideBudget
//	 3  14        L_ce = -log softmax(Cls(F(x)))_y, labelled                      objective.CrossEntropy
//	 4  13        q, I = 1[max p >= tau]: pseudo-label of the weak view, mask     objective.PseudoLabel
//	 5  13        L_ac = I * CE(strong view, q), unlabelled                       objective.Consistency
//	 6  4         mu_h^k, knowledge centroid: mean F(x), domain k, class h        cluster.Compute
//	 7  5         min dist(x, mu_h^k) = 1 - cos, of any domain                    cluster.MinDistances
//	 8  9         T = T_ini + (T_fin - T_ini) e/E; here e counts finished epochs  cluster.Threshold
//	 9  7, 8      U: dist < T, nearest mu's class; here T is a share of images    cluster.Centroids.Closest
//	10  10, 11    M_intra, M_inter; here one lambda a domain or pair, a step      objective.CEG.Draws
//	11  10, 11    x~ = lambda x_a + (1 - lambda) x_b; here of strong views        objective.MixUp
//	12  12        L_eg; here M_intra and M_inter weigh one half each              objective.MixCrossEntropy
//	13  15        L_ss = L_ce + L_ac + delta L_eg                                 objective.CEG.Objective
//	14  2         L_dd = CE(H(F(x)), k); here no gradient reaches F               objective.WithDomainHead
//	15  1         S_u = 1 - margin; here the margin, small first: same ranks      active.CEG.Uncertainty
//	16  3         S_r = max_k H(F(x))_k, large first                              active.CEG.Representativeness
//	17  5         S_d = dist(x) of row 7, large first                             active.CEG.Score
//	18  6         S': rank of a score among the candidates, from 0                active.Ranks
//	19  6         R = S_u' + gamma_1 S_r' + gamma_2 S_d'                          active.Weights.Combine
//	20  A1        query: the images with the smallest R                           active.CEG.Query
//
// Where the published code (junkunyuan/CEG) departs from these, each departure is a setting
// that the presets config.Paper and config.Authors differ in:
//
//	21  1, 3      softmax twice: before S_u and S_r                               config.Exploration.SoftmaxTwice
//	22  4, 5      phi(F(x)): [F(x), 1] / |[F(x), 1]| in (6) and (7)               config.Exploration.PhiCentroids
//	23  13        labelled in L_ac: with their pseudo-labels                      config.Both
//	24  7         quotas for (9): nearest of each centroid, a random part         cluster.Centroids.QuotaRandom
//	25  9         T: share of all images instead of the unlabelled                cluster.Threshold.CountPublished
//	26  2, 12-15  sums of domains' means instead of means                         config.SumOverDomains
//	27  A1        BatchNorm: domain by domain                                     config.PerDomain
//	28  13        running statistics are updated by pseudo-label passes           config.UpdateStats
//	29  2         H's features: after the step of F                               config.PostUpdate
//	30  2         H without ReLU: a factorised linear map                         config.Network.DomainReLU
//	31  A1        rounds: every few epochs, half of an odd budget less 1          config.PublishedRounds
//	32  6         gamma of Office-Home: 1/3 and 1/3 instead of 0.5 and 0.5        datasets.Recipe.GammaCode
//
// The tables of the evaluation:
//
//	33  T1-T4     printed numbers of Tables 1 to 4, beside those of a study       report.PaperTables
package ceg
