// Package ceg runs CEG, Collaborative Exploration and Generalization (Yuan et al., ACM MM
// 2022), and every other method of this repository: [Run] is Algorithm 1. A run is what a
// config says ([github.com/ledg-go/ledg/ceg/config]), and everything it finds is in its
// folder.
//
// The map of the paper: each quantity, in the order in which Algorithm 1 meets it, and what
// computes it. F is the backbone, Cls and H are the class and the domain head, of K source
// domains and C classes; x is an image, y its class, e one of E epochs. The comment of a
// symbol has its number behind the words "the map".
//
//	 1  Algorithm 1        label, train, then ask and train in turns                 Run
//	 2  B, rounds          budget: half before, the rest in rounds                   config.Config.DivideBudget
//	 3  L_ce               -log softmax(Cls(F(x)))_y, labelled                       objective.CrossEntropy
//	 4  q, 1[max p >= tau] pseudo-label of the weak view and its mask                objective.PseudoLabel
//	 5  L_ac               mask * CE(strong view, q), unlabelled                     objective.Consistency
//	 6  c_k^h              knowledge centroid: mean F(x), domain k, class h          cluster.Compute
//	 7  dist(x)            1 - cos(F(x), nearest c_k^h), of any domain               cluster.MinDistances
//	 8  T                  T_ini + (T_fin - T_ini) e/E, dynamic                      cluster.Threshold
//	 9  reliable set       images with dist < T, labelled by (6)                     cluster.Centroids.Closest
//	10  M_intra, M_inter   pairs within and across domains, lambda ~ Beta(0.2, 0.2)  objective.CEG.Draws
//	11  x~                 lambda x_a + (1 - lambda) x_b                             objective.MixUp
//	12  L_eg               lambda CE(x~, y_a) + (1 - lambda) CE(x~, y_b)             objective.MixCrossEntropy
//	13  L_ss               L_ce + L_ac + delta L_eg                                  objective.CEG.Objective
//	14  L_dd               CE(H(F(x)), k) on fixed features                          objective.WithDomainHead
//	15  S_u                margin of the two best classes, small first               active.CEG.Uncertainty
//	16  S_r                max_k H(F(x))_k, large first                              active.CEG.Representativeness
//	17  S_d                dist(x) of (7), large first                               active.CEG.Score
//	18  S'                 rank of a score among the candidates, from 0              active.Ranks
//	19  R                  S_u' + gamma_1 S_r' + gamma_2 S_d', least first           active.Weights.Combine
//	20  query              the images with the smallest R                            active.CEG.Query
//
// Where the published code (junkunyuan/CEG) departs from these, each departure is a setting
// that the presets config.Paper and config.Authors differ in:
//
//	21  softmax twice      before S_u and S_r                                        config.Exploration.SoftmaxTwice
//	22  phi(F(x))          [F(x), 1] / |[F(x), 1]| in (6) and (7)                    config.Exploration.PhiCentroids
//	23  labelled in L_ac   with their pseudo-labels                                  config.Both
//	24  quotas for (9)     nearest of each centroid, a random part                   cluster.Centroids.QuotaRandom
//	25  T of all images    instead of the unlabelled                                 cluster.Threshold.CountPublished
//	26  sums               of domains' means instead of means                        config.SumOverDomains
//	27  BatchNorm          domain by domain                                          config.PerDomain
//	28  running statistics are updated by pseudo-label passes                        config.UpdateStats
//	29  H's features       after the step of F                                       config.PostUpdate
//	30  H without ReLU     a factorised linear map                                   config.Network.DomainReLU
//	31  rounds             every few epochs, half of an odd budget less 1            config.PublishedRounds
//	32  gamma, Office-Home 1/3 and 1/3 instead of 0.5 and 0.5                        datasets.Recipe.GammaCode
package ceg
